/** WebGPU's usage bits. Node has no globals for them unless somebody installs them. */
export const BUFFER_USAGE = {
  mapRead: 0x0001,
  copySource: 0x0004,
  copyTarget: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
  queryResolve: 0x0200,
} as const;

export const MAP_READ = 0x0001;
export const COMPUTE_STAGE = 0x0004;
