mxprof report --by path --top 3 sample.mxp
