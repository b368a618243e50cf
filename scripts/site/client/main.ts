import './site.css';
import { setUpCode } from './code-tools.ts';
import { setUpSearch } from './search.ts';

setUpSearch();
setUpCode();
