import './site.css';
import { setUpCopying } from './copy-code.ts';
import { setUpSearch } from './search.ts';

setUpSearch();
setUpCopying();
