import type { ThreadOptions } from '../../parse-threads.ts';
import type { CaseRunner, Engine } from './engine.ts';

export const ENGINE_NAMES = ['chromium', 'node', 'firefox', 'deno'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

const node = () => import('./node-engine.ts');

const ENGINES: Readonly<Record<EngineName, () => Promise<Engine>>> = {
  chromium: async () => (await import('./browser-engine.ts')).openBrowserEngine('chromium'),
  node: async () => (await node()).openNodeEngine(),
  firefox: async () => (await import('./browser-engine.ts')).openBrowserEngine('firefox'),
  deno: async () => (await import('./deno-engine.ts')).openDenoEngine(),
};

/** What runs ONNX cases, by the word that chooses it: engines, and the devices of this process. */
export const RUNNERS: Readonly<Record<string, (threads: ThreadOptions) => Promise<CaseRunner>>> = {
  webgpu: ENGINES.chromium,
  firefox: ENGINES.firefox,
  deno: ENGINES.deno,
  dawn: ENGINES.node,
  auto: async () => (await node()).openProcessor('auto'),
  wasm: async (threads) => {
    const { openProcessor, openThreadRunner } = await node();
    return threads.count > 1 ? openThreadRunner(threads) : openProcessor('wasm');
  },
  host: async () => (await node()).openProcessor('host'),
};

/** Opens an engine. Throws where it cannot be had, or has no adapter. */
export function openEngine(name: EngineName): Promise<Engine> {
  return ENGINES[name]();
}
