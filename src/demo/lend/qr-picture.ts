import { encode } from 'uqr';
import './qr.css';

const SVG = 'http://www.w3.org/2000/svg';
/** Blank modules around the code that scanners want. */
const QUIET_ZONE = 4;

/**
 * A QR code of a text as an image with a name. Made of elements: the policy allows no styles. Dark on light, as scanners want it,
 * whatever the colours of the page.
 */
export function qrPicture(text: string, label: string): SVGSVGElement {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_ZONE });
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('fill', '#000000');
  path.setAttribute('shape-rendering', 'crispEdges');
  path.setAttribute('d', outline(data));
  const ground = document.createElementNS(SVG, 'path');
  ground.setAttribute('fill', '#ffffff');
  ground.setAttribute('d', `M0 0h${size}v${size}h-${size}z`);
  svg.append(ground, path);
  return svg;
}

/** A rectangle for each run of dark modules in a row. */
export function outline(rows: readonly (readonly boolean[])[]): string {
  const runs: string[] = [];
  for (const [y, row] of rows.entries()) {
    let x = 0;
    while (x < row.length) {
      const start = x;
      while (row[x] === true) x++;
      if (x > start) runs.push(`M${start} ${y}h${x - start}v1h${start - x}z`);
      else x++;
    }
  }
  return runs.join('');
}
