import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineResult } from './engine-result.ts';
import { ENGINE_NAMES, type EngineName } from './open-engine.ts';

const folder = fileURLToPath(new URL('../../.weft-cache/engines', import.meta.url));
const fileOf = (name: EngineName): string => join(folder, `${name}-result.json`);

/** Keeps what a whole run in an engine gave, so that each engine can have a run of its own. */
export function keepResult(name: EngineName, result: EngineResult): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(name), `${JSON.stringify(result, undefined, 1)}\n`);
}

/** The last whole run in each engine. Throws when one is missing. */
export function keptResults(): EngineResult[] {
  const missing = ENGINE_NAMES.filter((name) => !existsSync(fileOf(name)));
  if (missing.length > 0) {
    throw new Error(`--write: no whole run in ${missing.join(', ')}; --all makes one.`);
  }
  return ENGINE_NAMES.map((name) => JSON.parse(readFileSync(fileOf(name), 'utf8')) as EngineResult);
}
