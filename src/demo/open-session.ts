import {
  type LoadOptions,
  type LoadProgress,
  type ResumedState,
  Session,
  type SessionDevice,
  type SessionSource,
} from '../client/index.ts';
import { formatBytes } from '../core/format-quantity.ts';

type Requested = NonNullable<LoadOptions['device']>;

const DEVICES: readonly Requested[] = ['webgpu', 'wasm', 'host'];

/** The device that the page's address asks for, such as `?device=wasm`. */
export function requestedDevice(): Requested {
  const asked = new URLSearchParams(location.search).get('device');
  return DEVICES.find((device) => device === asked) ?? 'auto';
}

type OnStatus = (text: string, progress: LoadProgress) => void;

/** How a session is opened. */
export interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Loads a model on the device that the address asks for, saying how far it is. */
export async function openSession(
  source: SessionSource,
  onStatus: OnStatus,
  options?: OpenOptions,
): Promise<Session> {
  return Session.load(source, loadOptions(onStatus, options));
}

/** Goes on with a snapshot of a model, likewise. */
export async function resumeSession(
  snapshot: Uint8Array,
  { executable, ...options }: OpenOptions & { readonly executable: SessionSource },
  onStatus: OnStatus,
): Promise<Session & { readonly resumed: ResumedState }> {
  return Session.resume(snapshot, { executable, ...loadOptions(onStatus, options) });
}

function loadOptions(onStatus: OnStatus, { signal }: OpenOptions = {}): LoadOptions {
  return {
    device: requestedDevice(),
    signal,
    onProgress: (progress) => onStatus(describeProgress(progress), progress),
  };
}

const PHASES: Readonly<Record<LoadProgress['phase'], string>> = {
  download: 'Loading',
  verify: 'Verifying',
  compile: 'Compiling kernels',
  upload: 'Uploading weights',
};

/** A phase of a load and how far it is. */
export function describeProgress({ phase, loaded, total }: LoadProgress): string {
  const isBytes = phase === 'download' || phase === 'upload';
  const show = (value: number): string => (isBytes ? formatBytes(value) : String(value));
  const of = total === undefined ? '' : ` of ${show(total)}`;
  return `${PHASES[phase]}: ${show(loaded)}${of}`;
}

/** The address of a file in `public/models`. */
export function modelUrl(file: string): string {
  return new URL(`models/${file}`, document.baseURI).href;
}

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
