mxprof report --by path sample.mxp
