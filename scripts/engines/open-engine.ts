import type { Engine } from './engine.ts';

export const ENGINE_NAMES = ['chromium', 'node', 'firefox', 'deno'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

const OPENERS: Readonly<Record<EngineName, () => Promise<Engine>>> = {
  chromium: async () => (await import('./browser-engine.ts')).openBrowserEngine('chromium'),
  node: async () => (await import('./node-engine.ts')).openNodeEngine(),
  firefox: async () => (await import('./browser-engine.ts')).openBrowserEngine('firefox'),
  deno: async () => (await import('./deno-engine.ts')).openDenoEngine(),
};

/** Opens an engine. Throws where it cannot be had, or has no adapter. */
export function openEngine(name: EngineName): Promise<Engine> {
  return OPENERS[name]();
}
