mxprof info newer.mxp
