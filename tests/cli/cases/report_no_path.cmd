mxprof report --by path empty.mxp
