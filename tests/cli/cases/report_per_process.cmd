mxprof report --per-process several
