// SPDX-License-Identifier: Apache-2.0
// Unpacks the page's script and runs it: the policy lets it by the hash of its text. No module: it stands by itself in the page,
// and takes nothing of the others. Where it fails the plain text stands, with a sentence above it.
(async () => {
  try {
    const packed = Uint8Array.from(atob(document.getElementById('code')?.textContent ?? ''), each => each.charCodeAt(0));
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')).getReader(), parts = [], script = document.createElement('script');
    for (let part; !(part = await reader.read()).done;) parts.push(part.value);
    script.textContent = await new Blob(parts).text();
    document.head.append(script);
    script.remove();
  } catch {
    const place = document.getElementById('trouble'), heading = document.createElement('b');
    heading.textContent = 'This page cannot be shown: ';
    place?.replaceChildren(heading, 'DecompressionStream' in globalThis ? 'its script is damaged.'
      : 'this browser lacks DecompressionStream; Chromium from 80, Firefox from 113 and Safari from 16.4 have it. The verdict as text follows.');
    place?.removeAttribute('hidden');
  }
})();
