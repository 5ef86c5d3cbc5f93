mxprof report --layout mxnet --per-process several
