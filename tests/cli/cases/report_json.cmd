mxprof report --json --percentiles sample.mxp
