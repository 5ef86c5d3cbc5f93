mxprof merge sample.mxp missing.mxp -o all.mxp; ls all.mxp 2>&1
