/** A package as `npm install` puts it into an empty folder. */
export interface InstalledPackage {
  /** The folder, with `node_modules` in it; whoever asked for it removes it. */
  readonly folder: string;
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: string;
  /** The package's own folder below `node_modules`. */
  readonly installed: string;
  readonly byteLength: { readonly packed: number; readonly unpacked: number };
}

export function packAndInstall(root: string): InstalledPackage;

/** Packs the package of a folder into another one. */
export function pack(
  root: string,
  folder: string,
): Pick<InstalledPackage, 'tarball' | 'byteLength'>;
