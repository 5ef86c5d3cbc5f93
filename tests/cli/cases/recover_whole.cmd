mxprof recover sample.mxp -o out.mxp && mxprof report --layout mxnet sample.mxp | tail -n +2 > a && mxprof report --layout mxnet out.mxp | tail -n +2 > b && cmp a b
