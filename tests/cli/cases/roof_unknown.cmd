mxprof roof sample.mxp
