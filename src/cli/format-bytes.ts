const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

/** `512 bytes`, `1.5 KiB`, `27.2 MiB`. */
export function formatBytes(byteLength: number): string {
  let value = byteLength;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
