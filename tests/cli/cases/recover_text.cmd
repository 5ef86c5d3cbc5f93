mxprof recover text.mxp -o out.mxp; ls out.mxp 2>&1
