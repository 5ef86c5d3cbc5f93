mxprof report --by layer sample.mxp
