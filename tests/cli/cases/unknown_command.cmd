mxprof reprot sample.mxp
