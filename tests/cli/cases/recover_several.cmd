mxprof merge several -o all.mxp && mxprof recover all.mxp -o out.mxp && mxprof report out.mxp | head -6
