import type { SessionDevice } from '../client/index.ts';

/** The names of a device in the page. */
export interface DeviceWords {
  /** The name in the middle of a sentence. */
  readonly name: string;
  /** The name at the beginning of a sentence. */
  readonly title: string;
}

/** A session's device as the page names it. */
export function describeDevice({ kind, name }: SessionDevice): DeviceWords {
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
