cat several/first.mxp several/second.mxp > all.mxp && truncate -s -1000 all.mxp && mxprof report --layout mxnet all.mxp | head -6
