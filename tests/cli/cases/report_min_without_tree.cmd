mxprof report --min 5% sample.mxp
