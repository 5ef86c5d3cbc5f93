mxprof report --srot avg sample.mxp
