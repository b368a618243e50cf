import type { SessionDevice } from '../client/index.ts';

/** A session's device as the page names it: in the middle of a sentence, and as a title. */
export function describeDevice({ kind, name }: SessionDevice): { name: string; title: string } {
  switch (kind) {
    case 'webgpu':
      return { name, title: name };
    case 'wasm':
      return { name: 'WebAssembly', title: 'WebAssembly' };
    case 'host':
      return { name: 'the host device', title: 'Host device' };
    default:
      return kind satisfies never;
  }
}
