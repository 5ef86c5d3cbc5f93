mxprof report --by thread sample.mxp
