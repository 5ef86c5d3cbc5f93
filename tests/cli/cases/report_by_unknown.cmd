mxprof report --by place sample.mxp
