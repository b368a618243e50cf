import { existsSync, readFileSync } from 'node:fs';
import type { ReadFile } from '../../frontend/decoders/reader/model-folder.ts';

const STORIES = new URL('../../../public/models/stories/', import.meta.url);

/** Reads files of the stories' folder, or others in their place; undefined for one that is not there. */
export const storyFolder =
  (others: Readonly<Record<string, Uint8Array | undefined>> = {}): ReadFile =>
  (name) => {
    if (name in others) return Promise.resolve(others[name]);
    const file = new URL(name, STORIES);
    return Promise.resolve(existsSync(file) ? readFileSync(file) : undefined);
  };
