cat several/first.mxp several/second.mxp > all.mxp && mxprof report --layout mxnet all.mxp | head -6
