import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A heading of the bundler's list: `## name - version (license)`. */
const HEADING = /^## (\S+) - \S+ \((.*)\)$/;

const MIT = (author) => `MIT License

Copyright (c) ${author}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

/** Files at whose head a package has the terms that no file of its own has. */
const HEADS = { '@bufbuild/protobuf': 'dist/esm/wire/varint.js' };

/**
 * Adds texts of licenses to the bundler's list of what `dist` holds: some packages come without a file of their license.
 * Throws where one is of a license whose text is not known here.
 */
export function completeLicenses({ root, file }) {
  const sections = readFileSync(file, 'utf8').split(/^(?=## )/m);
  const completed = sections.map((section) => {
    const [heading = '', ...lines] = section.trimEnd().split('\n');
    const [, name, license] = HEADING.exec(heading) ?? [];
    if (name === undefined || lines.join('').trim() !== '') return section;
    return `${heading}\n\n${textOf({ root, name, license })}\n\n`;
  });
  writeFileSync(file, completed.join(''));
}

function textOf({ root, name, license }) {
  const folder = join(root, 'node_modules', name);
  if (license === 'MIT') {
    const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const holder = author?.name ?? author;
    if (typeof holder === 'string') return MIT(holder);
  }
  const head = HEADS[name];
  if (license === '(Apache-2.0 AND BSD-3-Clause)' && head !== undefined) {
    const terms = /^(?:\/\/.*\n)+/.exec(readFileSync(join(folder, head), 'utf8'))?.[0];
    if (terms?.includes('Redistribution and use')) {
      const apache = readFileSync(join(root, 'LICENSE'), 'utf8').trim();
      return `${terms.replaceAll(/^\/\/ ?/gm, '').trim()}\n\n${apache}`;
    }
  }
  throw new Error(
    `${name}: got ${license} without a text, expected one. Add it to complete-licenses.mjs.`,
  );
}
