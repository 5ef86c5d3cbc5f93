mxprof snapshot sample.mxp
