shared |s red round:2
1:0 |l hot
2:1.5 |l cold city:paris


5:1 |l a
6:0 'tag|l b:3 b
	
***shared*** |s x
7 |l c |m d:0.5
|l e
