mxprof report --by step sample.mxp
