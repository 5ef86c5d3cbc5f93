mxprof at sample.mxp 20
