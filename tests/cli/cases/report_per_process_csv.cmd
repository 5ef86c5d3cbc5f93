mxprof report --layout mxnet --per-process --csv several
