mxprof at sample.mxp
