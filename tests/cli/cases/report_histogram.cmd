mxprof report --histogram work sample.mxp
