mxprof report sample.mxp | head -1
