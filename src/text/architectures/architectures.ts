import type { Architecture } from './architecture.ts';
import { llama } from './llama.ts';

/** All kinds of decoders that Weft reads. */
export const ARCHITECTURES: readonly Architecture[] = [llama];
