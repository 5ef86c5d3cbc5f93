mxprof report --per-process --csv several
