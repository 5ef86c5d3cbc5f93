mxprof report --by step --sort total sample.mxp
