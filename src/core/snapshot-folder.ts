/** The folder of a page's private file system (OPFS) that has a folder for each store of snapshots, by its name. */
export const SNAPSHOT_FOLDER = 'weft-snapshots';
