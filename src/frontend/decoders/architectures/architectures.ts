import type { Architecture } from './architecture.ts';
import { gemma2 } from './gemma2.ts';
import { gemma3 } from './gemma3.ts';
import { llama } from './llama.ts';
import { phi3 } from './phi3.ts';
import { qwen2, qwen3 } from './qwen.ts';

/** All kinds of decoders that Weft reads. */
export const ARCHITECTURES: readonly Architecture[] = [llama, qwen2, qwen3, gemma2, gemma3, phi3];
