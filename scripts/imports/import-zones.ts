/** Imports allowed to the files of one folder of `src/`, beside that folder itself. */
export interface ImportZone {
  /** Zones, or single files. */
  readonly imports: readonly string[];
  /** Also, by `import()` or for its types only: what is loaded when it is first needed. */
  readonly later?: readonly string[];
  /** A composition root for Node may use Node's own modules. */
  readonly isForNode?: true;
}

/**
 * The layers of `src/`, lowest first. They bind the files that ship. Tests and folders named `testing`
 * may import anything within `src/`, and nothing that ships may import those.
 */
export const IMPORT_ZONES: Readonly<Record<string, ImportZone>> = {
  core: { imports: [] },
  bytecode: { imports: ['core'] },
  downloads: { imports: ['core'] },
  snapshots: { imports: ['core'] },
  wasm: { imports: ['core'] },
  ops: { imports: ['core', 'wasm'], later: ['worker'] },
  device: { imports: ['core', 'wasm', 'ops'] },
  runtime: { imports: ['core', 'bytecode', 'device/device.ts'] },
  compiler: { imports: ['core', 'bytecode', 'ops'] },
  conformance: { imports: ['core', 'ops', 'device', 'runtime', 'compiler'] },
  'frontend/decoders/files': { imports: ['core'] },
  'frontend/decoders/architectures': {
    imports: ['core', 'ops', 'compiler', 'frontend/decoders/files'],
    later: ['frontend', 'frontend/decoders'],
  },
  'frontend/decoders/reader': {
    imports: ['core', 'downloads', 'frontend/decoders/files', 'frontend/decoders/gguf-folder.ts'],
    later: ['worker/protocol'],
  },
  'frontend/decoders': {
    imports: [
      'core',
      'downloads',
      'bytecode',
      'ops',
      'compiler',
      'frontend',
      'frontend/decoders/files',
      'frontend/decoders/architectures',
    ],
  },
  frontend: { imports: ['core', 'ops', 'compiler', 'frontend/decoders'] },
  'worker/protocol': { imports: ['core'], later: ['ops', 'device', 'runtime', 'frontend'] },
  worker: {
    imports: [
      'core',
      'downloads',
      'snapshots',
      'bytecode',
      'ops',
      'device',
      'runtime',
      'worker/protocol',
    ],
    later: ['frontend', 'frontend/decoders', 'frontend/decoders/reader'],
  },
  rpc: { imports: ['core', 'bytecode', 'runtime', 'worker/protocol'], later: ['rpc/sessions'] },
  'rpc/sessions': {
    imports: ['core', 'bytecode', 'runtime', 'worker', 'worker/protocol', 'rpc'],
  },
  client: { imports: ['core', 'downloads', 'snapshots', 'worker/protocol'], later: ['worker'] },
  program: { imports: ['core', 'bytecode', 'ops', 'compiler', 'client'] },
  text: {
    imports: ['core', 'downloads', 'client', 'frontend/decoders/files', 'frontend/decoders/reader'],
    later: ['frontend', 'frontend/decoders', 'worker/protocol'],
  },
  tasks: {
    imports: [
      'core',
      'downloads',
      'client',
      'frontend/decoders/reader/model-folder.ts',
      'text/load/open-reader.ts',
      'text/load/remote-tokenizer.ts',
    ],
    later: ['worker/protocol', 'frontend/decoders/reader', 'frontend/tflite/reader/bundle.ts'],
  },
  inspector: { imports: ['core', 'bytecode', 'client'], later: ['worker/protocol'] },
  cli: {
    imports: [
      'core',
      'bytecode',
      'compiler',
      'frontend',
      'frontend/decoders',
      'worker',
      'rpc',
      'snapshots',
      'client',
      'text',
    ],
    isForNode: true,
  },
  demo: {
    imports: [
      'core',
      'downloads',
      'bytecode',
      'ops',
      'frontend',
      'worker',
      'rpc',
      'client',
      'text',
      'frontend/decoders',
      'frontend/decoders/files',
      'frontend/decoders/architectures',
      'frontend/decoders/reader',
      'tasks',
      'inspector',
      'cli/files/npy.ts',
    ],
  },
  playground: { imports: ['core', 'client', 'frontend'] },
};

/** The table as `docs/architecture.md` shows it. */
export function zoneTable(): string {
  const names = (folders: readonly string[]): string =>
    folders.map((name) => `\`${name}${name.endsWith('.ts') ? '' : '/'}\``).join(', ');
  const rows = Object.entries(IMPORT_ZONES).map(([folder, { imports, later = [], isForNode }]) => {
    const all = [...imports.map((name) => names([name])), ...(isForNode === true ? ['Node'] : [])];
    return `| \`${folder}/\` | ${all.join(', ') || 'nothing'} | ${names(later)} |`;
  });
  return ['| folder | may import | by `import()`, or types |', '|---|---|---|', ...rows].join('\n');
}
