// SPDX-License-Identifier: Apache-2.0
// Of a page that stands in for the product: it unpacks nothing.
(() => {})();
