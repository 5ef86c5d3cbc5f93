mxprof report sample.mxp
