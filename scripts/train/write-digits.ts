// Compiles the trained weights to public/models/digits.weft: node ../run-ts.mjs write-digits.ts
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from '../../src/compiler/index.ts';
import type { Network } from './digit-network.ts';
import { digitsModule } from './digits-module.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Kept so that a change of the compiler needs no training. */
const WEIGHTS = `${root}.weft-cache/digit-weights.json`;

export function saveWeights(weights: Network<number[]>): void {
  mkdirSync(`${root}.weft-cache`, { recursive: true });
  writeFileSync(WEIGHTS, JSON.stringify(weights));
}

export function main(): Promise<number> {
  const weights: Network<number[]> = JSON.parse(readFileSync(WEIGHTS, 'utf8'));
  const bytes = compile(digitsModule(weights)).toBytes();
  writeFileSync(`${root}public/models/digits.weft`, bytes);
  console.log(`public/models/digits.weft: ${bytes.byteLength} bytes`);
  return Promise.resolve(0);
}
