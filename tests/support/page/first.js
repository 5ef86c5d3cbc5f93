// SPDX-License-Identifier: Apache-2.0
// The least page there is, for tests of what writes pages.
export function sections() {
  return document.querySelectorAll('script[type="application/vnd.mxprof"]').length;
}
