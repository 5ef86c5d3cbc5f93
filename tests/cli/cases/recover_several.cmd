mxprof merge several -o all.mxp && mxprof recover all.mxp -o out.mxp && mxprof report --layout mxnet out.mxp | head -6
