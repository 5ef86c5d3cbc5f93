mxprof convert sample.mxp -o /dev/null --to chrome; ls -l /dev/null | cut -c1
